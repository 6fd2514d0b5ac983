// Text with something in it: the schema of fields in which blanks alone are a mistake.

import { z } from "zod";

export const NonBlank = z.string().refine((text) => text.trim() !== "", "is blank");
