// Package rollout measures a publication to many replicas: how long it takes,
// and what it costs the server, the network and a replica. Servers are processes
// of their own, so that the system tells what each of them uses; the replicas
// share the measuring process.
package rollout
