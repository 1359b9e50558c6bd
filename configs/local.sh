# One machine, nothing beyond 127.0.0.1 (SRV-3): `make serve` sources this before it runs
# `serve run configs/serve.yaml`. From the repository's root:
#
#     . configs/local.sh && serve run configs/serve.yaml

export PATH="$PWD/.venv/bin:$PATH"
# Ray's switch between a node of a cluster and a machine by itself: 0 makes 127.0.0.1 the node's
# address, so that GCS, raylet, agents and workers bind to loopback. Its name is about the systems
# where 0 is the default.
export RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0
# HAProxy's statistics and metrics listeners, which Ray binds to every interface.
RAY_SERVE_HAPROXY_BINARY_PATH="$(command -v systemone-haproxy)" ||
  { echo 'systemone-haproxy is missing: pip install this package' >&2; return 1; }
export RAY_SERVE_HAPROXY_BINARY_PATH
# Ray starts workers at nice 15, below everything else on the machine; replicas answer people.
export RAY_worker_niceness=0
export RAY_AUTH_MODE=token
export RAY_USAGE_STATS_ENABLED=0
