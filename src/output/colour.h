/* SPDX-License-Identifier: BSD-3-Clause */
/* The colours of heat maps. */
#ifndef PS_OUTPUT_COLOUR_H
#define PS_OUTPUT_COLOUR_H

#define PS__STYLE_BYTES 48

/* lstopo's style of a box: a background for a fraction, 0.0 to 1.0, and black
 * or white for the text on it. */
void ps__colour_style(char style[PS__STYLE_BYTES], double fraction);

#endif
