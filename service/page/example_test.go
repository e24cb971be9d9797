package page_test

import (
	"fmt"
	"net/http/httptest"

	"tutti/service/page"
)

func ExampleHandler() {
	w := httptest.NewRecorder()
	page.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/assets/icon.svg", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 image/svg+xml
}
