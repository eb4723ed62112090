#!/usr/bin/env bash
#
# test-runner.sh: test that a failed test shows its reason in the summary of .ci/run.
#
# In a copy of the sources with one test of each kind, each of which fails.

. "$(dirname "$0")/verdicts.sh"

idgen_no_options "$@"
idgen_make_work_folder
copy=$IDGEN_WORK/copy
mkdir "$copy"
tar cf - -C "$IDGEN_SOURCE" --exclude=./.git --exclude='*.o' --exclude='*.so' . | tar xf - -C "$copy"

rm "$copy"/t/*.pl "$copy"/contrib/advisor/t/*.pl
sed -i 's/^REGRESS = .*/REGRESS = install/; s/^ISOLATION = .*/ISOLATION = forget_creation/' "$copy/Makefile"
sed -i 's/^REGRESS = .*/REGRESS = key_cost/' "$copy/contrib/advisor/Makefile"
echo 'planted in regress' >>"$copy/expected/install.out"
echo 'planted in isolation' >>"$copy/expected/forget_creation.out"
echo 'planted in contrib' >>"$copy/contrib/advisor/expected/key_cost.out"
echo "use Server; is('this', 'planted in TAP', 'a test'); done_testing();" >"$copy/t/001_planted.pl"
dies="use Server; start_server('planted'); ok(1, 'a test')"
echo "$dies; die 'planted in a TAP file that dies';" >"$copy/t/002_planted.pl"
echo "$dies; ok(0, 'another'); ask('planted in a TAP file that fails and dies');" >"$copy/t/003_planted.pl"

(run_script "$copy/scripts/test.sh" . contrib/advisor; end_of_scripts) >"$IDGEN_WORK/log" 2>&1
verdict $((! $?)) "the runner fails"
sed -n '/^== Failures/,$p' "$IDGEN_WORK/log" >"$IDGEN_WORK/summary"
for kind in regress isolation contrib TAP 'a TAP file that dies' 'a TAP file that fails and dies'; do
    grep -q "^[-#].*planted in $kind" "$IDGEN_WORK/summary"
    verdict $? "the summary has the reason of $kind"
done
[ "$(tail -n 1 "$IDGEN_WORK/summary")" = '3 passed, 6 failed' ]
verdict $? "and counts the failures"

end_of_verdicts
