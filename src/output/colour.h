/* SPDX-License-Identifier: BSD-3-Clause */
/* The colours of heat maps. */
#ifndef PS_OUTPUT_COLOUR_H
#define PS_OUTPUT_COLOUR_H

#define PS__STYLE_BYTES 48

/* Writes lstopo's style for a box: the background colour for a fraction from 0.0 to 1.0, and black
 * or white for its text. */
void ps__colour_style(char style[PS__STYLE_BYTES], double fraction);

#endif
