#!/usr/bin/env bash
# The distribution's Chromium, in which the dashboard's pages are opened. Without it those tests are skipped.
set -euo pipefail
command -v chromium >/dev/null && exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet=2
apt-get install --quiet=2 --yes --no-install-recommends chromium >/dev/null
chromium --version
