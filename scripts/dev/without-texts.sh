#!/bin/sh
#
# without-texts.sh: run a command, and leave out the texts of the errors that it prints.
#
#   scripts/dev/without-texts.sh COMMAND [ARGUMENT ...]
#
# "make portable-installcheck" compares results so, since the portable edition has texts
# of its own.

"$@" 2>&1 | sed -E -e '/^ *(DETAIL|HINT):/d' -e 's/^( *ERROR):.*/\1/'
