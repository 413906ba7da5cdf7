/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The colours of heat maps: viridis (S. van der Walt and N. Smith, 2015,
 * https://bids.github.io/colormap/, CC0), from dark violet through green to yellow. Its lightness
 * grows evenly, so that it also works for colour-blind readers and in black-and-white print. The
 * table has ten of its points; colours between them are interpolated.
 */
#include "output/colour.h"

#include <math.h>
#include <stdio.h>

struct colour {
	double red, green, blue; /* sRGB, 0 to 255 */
};

static const struct colour viridis[] = {
    {0x44, 0x01, 0x54}, {0x48, 0x28, 0x78}, {0x3e, 0x49, 0x89}, {0x31, 0x68, 0x8e},
    {0x26, 0x82, 0x8e}, {0x1f, 0x9e, 0x89}, {0x35, 0xb7, 0x79}, {0x6e, 0xce, 0x58},
    {0xb5, 0xde, 0x2b}, {0xfd, 0xe7, 0x25},
};
#define STEPS ((double)(sizeof viridis / sizeof *viridis - 1))

static struct colour colour_of(double fraction)
{
	double position = fmin(fmax(fraction, 0), 1) * STEPS;
	double step = fmin(floor(position), STEPS - 1), share = position - step;
	const struct colour *low = &viridis[(int)step], *high = low + 1;

	return (struct colour){
	    .red = round(low->red + share * (high->red - low->red)),
	    .green = round(low->green + share * (high->green - low->green)),
	    .blue = round(low->blue + share * (high->blue - low->blue)),
	};
}

static double colour_linear(double channel)
{
	double part = channel / 255;

	return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

/* Relative luminance of the Web Content Accessibility Guidelines 2.1. */
static double colour_luminance(struct colour colour)
{
	return 0.2126 * colour_linear(colour.red) + 0.7152 * colour_linear(colour.green) +
	       0.0722 * colour_linear(colour.blue);
}

void ps__colour_style(char style[PS__STYLE_BYTES], double fraction)
{
	struct colour colour = colour_of(fraction);
	double light = colour_luminance(colour) + 0.05;
	/* Contrast by the same guidelines: 1.05 / light with white, light / 0.05 with black. */
	const char *text = 1.05 / light > light / 0.05 ? "#ffffff" : "#000000";

	snprintf(style, PS__STYLE_BYTES, "Background=#%02x%02x%02x;Text=%s", (unsigned)colour.red,
	         (unsigned)colour.green, (unsigned)colour.blue, text);
}
