#!/bin/sh
# A job for cron: 15 2 * * * /opt/shop/nightly-export.sh
set -eu
umask 077

url=${EXPORT_URL:-http://localhost:3000/orders}
# One line: Authorization: Bearer shop_…
key=${EXPORT_KEY:-export.key}
target=${EXPORT_TARGET:-orders.json}

case $(ls -ldL "$key") in
  -r[w-]-------*) ;;
  *)
    echo "Other users can read $key. Run: chmod 600 $key" >&2
    exit 1
    ;;
esac

# curl reads the header from the file: every user of the machine can see the arguments of a process. It repeats a 429 or 503 after
# the time that the server names.
curl --silent --show-error --fail --max-time 60 --retry 3 --header "@$key" --output "$target.part" "$url"
mv "$target.part" "$target"
