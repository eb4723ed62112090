#!/usr/bin/env bash
#
# nightly.sh: run the tests that take too long for .ci/run.
#
# The script ends with a summary of the failures. It requires root, a Debian mirror, 27 GB in $IDGEN_MATRIX or
# /var/cache/idgen-matrix for the Debian systems in which other versions are tested, and a source tree of version 16 in
# IDGEN_POSTGRES (see run-on.sh). A part whose requirements are not available is skipped. .github/workflows/tests.yml
# runs all parts except the tests on s390x, PostgreSQL 16's own tests, and the longer stress and fuzz tests.

. "$(dirname "$0")/../scripts/results.sh"

idgen_no_options "$@"
cd "$IDGEN_SOURCE" || exit

for major in 15-i386 16 18 19; do run_script dev/run-on.sh "$major" scripts/test.sh; done
run_script dev/run-on.sh 15-s390x scripts/test.sh --regress
# Under emulation, t/024_creation_load.pl takes longer than the default timeout.
PG_TEST_TIMEOUT_DEFAULT=1800 \
    run_script dev/run-on.sh 17-arm64 scripts/test.sh --regress t/01*.pl t/02*.pl t/007*.pl t/030*.pl
for major in 18 19; do run_script dev/test-upgrade.sh 15 "$major"; done
for major in 15 17 18 19; do run_script dev/test-package.sh "$major"; done
for major in 15 18; do run_script dev/test-assertions.sh "$major"; done
for major in 16 18; do run_script dev/test-postgresql.sh "$major"; done
run_script dev/test-jit.sh
run_script dev/coverage.sh
run_script dev/stress.sh --seconds 1800
run_script dev/fuzz.sh --seconds 120

end_of_scripts
