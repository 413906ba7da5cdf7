/* SPDX-License-Identifier: BSD-3-Clause */
/* sysfs's format files: "config:0-7,32-35" says which bits of perf_event_attr a term fills, lowest first. */
#include "event/pmu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A bit number, 0 to 63, at *text, which moves past it; -1 if there is none. */
static int parse_bit(const char **text)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -1;
	unsigned long bit = strtoul(*text, &end, 10);
	*text = end;
	return bit < 64 ? (int)bit : -1;
}

static bool parse_range(const char **text, uint64_t *mask)
{
	int first = parse_bit(text);
	int last = first;

	if (**text == '-') {
		++*text;
		last = parse_bit(text);
	}
	if (first < 0 || last < first)
		return false;
	for (int bit = first; bit <= last; bit++)
		*mask |= UINT64_C(1) << bit;
	return true;
}

bool ps__format_parse(const char *text, struct ps__format *out)
{
	static const char *const configs[] = {"config:", "config1:", "config2:"};
	struct ps__format format = {.config = -1};

	for (int i = 0; i < 3; i++) {
		if (!strncmp(text, configs[i], strlen(configs[i])))
			format.config = i;
	}
	if (format.config < 0)
		return false;
	text += strlen(configs[format.config]);
	while (parse_range(&text, &format.mask)) {
		if (*text == '\0') {
			*out = format;
			return true;
		}
		if (*text++ != ',')
			return false;
	}
	return false;
}

uint64_t ps__format_max(const struct ps__format *format)
{
	int bits = __builtin_popcountll(format->mask);

	return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static __u64 *config_of(struct perf_event_attr *attr, int config)
{
	switch (config) {
	case 1:
		return &attr->config1;
	case 2:
		return &attr->config2;
	default:
		return &attr->config;
	}
}

bool ps__format_apply(const struct ps__format *format, uint64_t value, struct perf_event_attr *attr)
{
	__u64 *config = config_of(attr, format->config);

	if (value > ps__format_max(format))
		return false;
	*config &= ~format->mask;
	for (int bit = 0; bit < 64; bit++) {
		if (!(format->mask & UINT64_C(1) << bit))
			continue;
		*config |= (value & 1) << bit;
		value >>= 1;
	}
	return true;
}
