#!/bin/sh
# Creates the user of the service, which an administrator starts: systemctl enable --now tutti
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then systemd-sysusers tutti.conf; fi
