package api_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"tutti/service/api"
)

func Example() {
	a, err := api.New(newFake(), api.Options{Version: "1.2.3"})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(a)
	defer server.Close()
	resp, err := http.Get(server.URL + "/api/v1/version")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	fmt.Print(string(answer), err)
	// Output:
	// {"version":"1.2.3","api":"v1"}
	// <nil>
}
