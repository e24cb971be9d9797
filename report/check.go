package report

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// check returns an error that names the first figure of f that is NaN or
// infinite, by its path in the JSON form: problems[0].curve[2].r2.
func check(f Facts) error { return checkValue("", reflect.ValueOf(f)) }

func checkValue(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("report: %s is %v: want a finite number", path, x)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return checkValue(path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkValue(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkFields(path, v)
	}
	return nil
}

func checkFields(path string, v reflect.Value) error {
	if path != "" {
		path += "."
	}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if err := checkValue(path+name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}
