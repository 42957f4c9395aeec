package fleet

import "slices"

// ReplicaSubjects returns the subjects that the user of a replica must be allowed
// to publish to: it reads plans and content and writes the reports of id, or with
// id "" those of every replica. It must be allowed to subscribe to _INBOX.>, as
// each user must.
//
// Who may read a stream may direct its messages to any subject, by a consumer:
// NATS knows no right to read alone. Signatures keep replicas apart from that (see
// docs/fleet.md).
func ReplicaSubjects(id string) []string {
	reports := "$KV." + reportsBucket + ".*.*"
	if id != "" {
		reports = "$KV." + reportsBucket + "." + "*." + token(id)
	}
	return append(readsPlansAndContent(), reports)
}

// PublisherSubjects returns the subjects that the user of a [Publisher] or a
// [Controller] must be allowed to publish to. [Setup] takes a user without limits.
func PublisherSubjects() []string {
	return slices.Concat(readsPlansAndContent(), reading("KV_"+reportsBucket), reading(historyStream), []string{
		"$KV." + plansBucket + ".*", "$O." + contentBucket + ".>", "$JS.API.STREAM.PURGE.OBJ_" + contentBucket, historySubject + ".>",
	})
}

func readsPlansAndContent() []string {
	return slices.Concat([]string{"$JS.API.INFO"}, reading("KV_"+plansBucket), reading("OBJ_"+contentBucket))
}

// reading returns the subjects of JetStream's interface that reading a stream
// takes.
func reading(stream string) []string {
	return []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.DIRECT.GET." + stream, "$JS.API.DIRECT.GET." + stream + ".>", "$JS.API.STREAM.MSG.GET." + stream,
		"$JS.API.CONSUMER.CREATE." + stream, "$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.API.CONSUMER.INFO." + stream + ".*",
		"$JS.API.CONSUMER.MSG.NEXT." + stream + ".*", "$JS.API.CONSUMER.DELETE." + stream + ".*", "$JS.ACK." + stream + ".>", "$JS.FC." + stream + ".>",
	}
}
