package doctor

import "context"

func (x *examiner) examineNative(context.Context) {}
