#!/usr/bin/env bash
#
# test-jit.sh: run the regression and isolation tests with JIT compilation of each query and with idgen's functions
# inlined.
#
# The script installs the version of LLVM with which the server was built. Debian's PostgreSQL 15 reports this version
# in pg_config --configure.

. "$(dirname "$0")/../scripts/results.sh"

idgen_no_options "$@"
idgen_install_packages tests
version=$("$PG_CONFIG" --configure | sed -nE "s/.*llvm-config-([0-9]+).*/\1/p")
[ -n "$version" ] || { echo "the LLVM of this server is not known"; exit 77; }
export IDGEN_LLVM=/usr/lib/llvm-$version/bin
idgen_require "$IDGEN_LLVM/clang:clang-$version" "$IDGEN_LLVM/llvm-lto:llvm-$version"
idgen_build || idgen_die "idgen could not be built"
[ -e "$IDGEN_WORK/root$("$PG_CONFIG" --pkglibdir)/bitcode/idgen.index.bc" ]
result $? "the bitcode of idgen is installed"
idgen_start jit_above_cost=0 jit_inline_above_cost=0 jit_optimize_above_cost=0
run "Regression and isolation tests" installcheck "${idgen_make[@]}" installcheck
end_of_results
