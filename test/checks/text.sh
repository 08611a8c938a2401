#!/bin/sh
# No machine paths and no registry hosts in what the repository holds, and nothing at its top that does not belong there.
# usage: text.sh ROOT
cd "$1" || exit 1
bad=$(git ls-files | grep -v '^LICENSE$' | grep -v '^test/checks/text.sh$' | tr '\n' '\0' |
  xargs -0 grep -nIE '/(wor)k/(main|wt|shared)|[a-z]+\.(deb)ian\.org|(reg)istry\.np|(py)pi\.org|sub''agent|this[ ]session' 2>/dev/null)
top=$(git ls-files | sed 's|/.*||' | grep -v '^\.' | sort -u |
  grep -vxE 'lib|include|builtins|vfs|bindings|examples|test|CMakeLists.txt|CMakePresets.json|COMMANDS.md|SECURITY.md|README.md|LICENSE')
[ -z "$top" ] || { echo "text: not of the top level: $top"; exit 1; }
[ -z "$bad" ] && { echo "text: nothing of a machine in it"; exit 0; }
echo "$bad"
exit 1
