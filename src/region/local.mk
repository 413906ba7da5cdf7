# SPDX-License-Identifier: BSD-3-Clause
# Regions: counts by path of open regions.
noinst_LTLIBRARIES += src/region/libregion.la
src_region_libregion_la_SOURCES = \
	src/region/boundary.h \
	src/region/ended.c \
	src/region/estimate.c \
	src/region/group.c \
	src/region/group.h \
	src/region/join.c \
	src/region/links.c \
	src/region/links.h \
	src/region/listen.c \
	src/region/listen.h \
	src/region/mark_names.h \
	src/region/mark_sums.c \
	src/region/mark_value.c \
	src/region/marks.c \
	src/region/member.c \
	src/region/node.c \
	src/region/node.h \
	src/region/notes.c \
	src/region/notes.h \
	src/region/path.c \
	src/region/paths.c \
	src/region/paths.h \
	src/region/paths_file.c \
	src/region/paths_file.h \
	src/region/pool.c \
	src/region/profile.c \
	src/region/profile.h \
	src/region/region.c \
	src/region/rest.c \
	src/region/rest.h \
	src/region/review.c \
	src/region/sampling.c \
	src/region/sampling.h \
	src/region/slow.c \
	src/region/slow.h \
	src/region/take.c \
	src/region/words.c

