#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure in a clone. A released archive already contains it.
set -e
cd "$(dirname "$0")"
autoreconf --install
echo "Next: mkdir build && cd build && ../configure && make && make check"
