# Sourced by scripts/test: runs each kind of test, remembers how it ended, and closes with each runner's own last line.
# shellcheck shell=bash

venv=.build-venv
logs=.build/test-logs
closing_lines=()
failed_runners=()
tests_ran=0

# need_venv: a Python environment with the pinned packages of Tests/requirements.txt; made anew when that file changes.
need_venv() {
  local wanted stamp=$venv/requirements.sha256
  wanted=$(sha256sum < Tests/requirements.txt)
  [ -x "$venv/bin/pytest" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return 0
  say "Making the Python environment of the tests in $venv"
  rm -rf "$venv"
  python3 -m venv "$venv" || fail "python3 -m venv failed; is python3-venv installed?"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r Tests/requirements.txt ||
    fail "the packages of Tests/requirements.txt could not be installed"
  printf '%s\n' "$wanted" > "$stamp"
}

# find_python2: prints the path of a Python 2.7, which Debian no longer has.
find_python2() {
  local candidate
  for candidate in "$(command -v python2.7 || true)" "${HOME:-/root}"/.pyenv/versions/2.7.*/bin/python2.7; do
    if [ -x "$candidate" ] && "$candidate" -m pip --version >/dev/null 2>&1; then printf '%s\n' "$candidate"; return; fi
  done
}

# need_autobahn: the Autobahn test suite in a folder of its own, because it needs old packages. Its test fails where it is missing.
need_autobahn() {
  local wanted python folder=$venv/autobahn
  wanted=$(sha256sum < Tests/autobahn-requirements.txt)
  [ "$(cat "$folder/requirements.sha256" 2>/dev/null)" = "$wanted" ] && return 0
  python=$(find_python2)
  [ -n "$python" ] || { say "Python 2.7 with pip was not found, so the Autobahn test suite cannot run"; return 0; }
  say "Installing the Autobahn test suite in $folder"
  rm -rf "$folder"
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" -r Tests/autobahn-requirements.txt \
    2> "$venv/autobahn.log" || { say "The Autobahn test suite could not be installed; see $venv/autobahn.log"; return 0; }
  ln -s "$python" "$folder/python2.7"
  printf '%s\n' "$wanted" > "$folder/requirements.sha256"
}

# record NAME STATUS COUNT CLOSING: what became of one runner.
record() {
  [ -z "$4" ] || closing_lines+=("$4")
  tests_ran=$((tests_ran + $3))
  [ "$2" -eq 0 ] || failed_runners+=("$1")
}

run_unit() {
  need_packages "${build_packages[@]}"
  find_swift
  mkdir -p "$logs"
  say "Building and running the unit tests (swift test)"
  local status=0 closing count issues
  swift test "$@" 2>&1 | tee "$logs/unit.log" || status=$?
  closing=$(grep -aE 'Test run with [0-9]+ tests?' "$logs/unit.log" | tail -n 1 || true)
  count=$(sed -nE 's/.*Test run with ([0-9]+) tests?.*/\1/p' <<< "$closing")
  # The issues stand far above in the output, so they are printed again at the end.
  issues=$(grep -aE 'recorded an issue' "$logs/unit.log" || true)
  [ -z "$issues" ] || closing_lines+=("$issues")
  record 'unit tests' "$status" "${count:-0}" "$closing"
}

run_pytest() {
  need_packages "${build_packages[@]}" "${test_packages[@]}"
  find_swift
  build_release
  need_venv
  need_autobahn
  mkdir -p "$logs"
  local status=0 closing count
  "$venv/bin/pytest" -c Tests/pytest.ini Tests "$@" 2>&1 | tee "$logs/pytest.log" || status=$?
  # Status 5 says that no test was selected; whether any ran at all is judged in close_run.
  [ "$status" -ne 5 ] || status=0
  closing=$(grep -aE '^=+ .* in [0-9.]+s' "$logs/pytest.log" | tail -n 1 || true)
  count=$({ grep -oE '[0-9]+ (passed|failed|errors?)' <<< "$closing" || true; } | awk '{ n += $1 } END { print n + 0 }')
  record 'pytest' "$status" "$count" "$closing"
}

close_run() {
  say ''
  local line
  for line in "${closing_lines[@]}"; do printf '%s\n' "$line"; done
  [ ${#failed_runners[@]} -eq 0 ] || fail "failed: $(IFS=,; echo "${failed_runners[*]}")"
  [ "$tests_ran" -gt 0 ] || fail "no test ran"
}
