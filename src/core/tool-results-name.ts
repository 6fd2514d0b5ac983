// The name of the user message that carries the results of one turn in the fenced format, known to the loop and to the rehearsal.

export const toolResultsName = "tool_results";
