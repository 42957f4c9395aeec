package objectstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/poolswap/poolswap/reload"
)

// signed returns a Prepare for an object store that asks for signatures of AWS.
func signed(keys aws.CredentialsProvider, region string) func(*http.Request) error {
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	nothing := hex.EncodeToString(sha256.New().Sum(nil)) // the digest of the request's body
	return func(request *http.Request) error {
		key, err := keys.Retrieve(request.Context())
		if err != nil {
			return err
		}
		request.Header.Set("X-Amz-Content-Sha256", nothing)
		return signer.SignHTTP(request.Context(), key, request, nothing, "s3", region, time.Now())
	}
}

// The SDK's config.LoadDefaultConfig returns the Config.
func Example() {
	config := aws.Config{Region: "eu-central-1"}
	fmt.Println(reload.HTTP("https://s3.eu-central-1.amazonaws.com/tables/asn.txt", reload.HTTPOptions{
		Prepare: signed(config.Credentials, config.Region),
	}))
	// Output: https://s3.eu-central-1.amazonaws.com/tables/asn.txt
}
