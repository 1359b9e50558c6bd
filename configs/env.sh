# The router's process profile for a cluster: source on every node before `ray start`, and before
# `serve deploy` (SRV-3). The Serve config files hold the same variables for the Serve processes.
#
# A driver that calls handles from synchronous code must not have
# RAY_SERVE_THROUGHPUT_OPTIMIZED in its own environment: Serve then expects a running event loop.

export RAY_SERVE_THROUGHPUT_OPTIMIZED=1
export RAY_SERVE_ENABLE_HA_PROXY=1
# 64 MiB between replicas; the default of 4 MiB refuses long prompts.
export RAY_SERVE_REPLICA_GRPC_MAX_MESSAGE_LENGTH=67108864
# How long a leaving ingress replica goes on answering: longer than HAProxy needs to notice.
export RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S=5
# How long HAProxy waits before it takes over which replicas run: an Ingress that takes a new policy
# is off that list for a moment, and goes on answering.
export RAY_SERVE_HAPROXY_BROADCAST_COALESCE_S=1
# Warnings reach the log at once; throughput mode holds a thousand lines back.
export RAY_SERVE_REQUEST_PATH_LOG_BUFFER_SIZE=1
# Nodes of one cluster share a token: write it to ~/.ray/auth_token, or name its file in
# RAY_AUTH_TOKEN_PATH.
export RAY_AUTH_MODE=token
export RAY_USAGE_STATS_ENABLED=0
# Ray starts workers at nice 15, below everything else on the machine; replicas answer people.
export RAY_worker_niceness=0
