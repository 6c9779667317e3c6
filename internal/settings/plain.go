package settings

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// plain fills in a text, a number, or true or false.
func plain(dst reflect.Value, raw any) error {
	switch dst.Kind() { //nolint:exhaustive // the rest is a mistake in the program
	case reflect.String:
		text, ok := raw.(string)
		if !ok {
			return Mismatch(raw, "a text in quotes")
		}
		dst.SetString(text)
	case reflect.Bool:
		yes, ok := raw.(bool)
		if !ok {
			return Mismatch(raw, "true or false")
		}
		dst.SetBool(yes)
	case reflect.Float32, reflect.Float64:
		return decodeFloat(dst, raw)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decodeInt(dst, raw)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return decodeUint(dst, raw)
	default:
		return fmt.Errorf("keys of type %s cannot be read; this is a mistake in the program", dst.Type())
	}
	return nil
}

func decodeFloat(dst reflect.Value, raw any) error {
	switch number := raw.(type) {
	case float64:
		dst.SetFloat(number)
	case int64:
		dst.SetFloat(float64(number))
	default:
		return Mismatch(raw, "a number, as 0.5")
	}
	return nil
}

func decodeInt(dst reflect.Value, raw any) error {
	number, ok := raw.(int64)
	if !ok {
		return Mismatch(raw, "a whole number, as 12")
	}
	if dst.OverflowInt(number) {
		most := int64(1)<<(dst.Type().Bits()-1) - 1
		return outside(number, -most-1, most)
	}
	dst.SetInt(number)
	return nil
}

func decodeUint(dst reflect.Value, raw any) error {
	number, ok := raw.(int64)
	if !ok {
		return Mismatch(raw, "a whole number, as 12")
	}
	if number < 0 || dst.OverflowUint(uint64(number)) {
		most := int64(1<<63 - 1)
		if bits := dst.Type().Bits(); bits < 64 {
			most = 1<<bits - 1
		}
		return outside(number, 0, most)
	}
	dst.SetUint(uint64(number))
	return nil
}

// within checks a number against the field's tag within:"least,most".
func within(table reflect.Type, name string, raw any) error {
	field, _ := fieldOf(table, name)
	low, high, ok := strings.Cut(field.Tag.Get("within"), ",")
	if !ok {
		return nil
	}
	least, lowErr := strconv.ParseFloat(low, 64)
	most, highErr := strconv.ParseFloat(high, 64)
	if lowErr != nil || highErr != nil {
		return fmt.Errorf("the tag within:%q is not of the form \"least,most\"; this is a mistake in the program",
			field.Tag.Get("within"))
	}
	switch number := raw.(type) {
	case int64:
		if float64(number) < least || float64(number) > most {
			return fmt.Errorf("%d is outside %s to %s", number, low, high)
		}
	case float64:
		if !(number >= least && number <= most) {
			return fmt.Errorf("%v is outside %s to %s", number, low, high)
		}
	}
	return nil
}

func outside(number, least, most int64) error {
	return fmt.Errorf("%d is outside %d to %d", number, least, most)
}

// Mismatch says that a value has the wrong type. It does not show the value,
// which could be a secret.
func Mismatch(raw any, want string) error {
	return fmt.Errorf("is %s; write %s", kindOf(raw), want)
}

func kindOf(raw any) string {
	switch raw.(type) {
	case string:
		return "a text"
	case int64:
		return "a number"
	case float64:
		return "a number with a point"
	case bool:
		return "true or false"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	}
	return "a date or time"
}
