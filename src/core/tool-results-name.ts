// The name of the user message that holds the results of one turn in the fenced format; the loop and the rehearsal use it.

export const toolResultsName = "tool_results";
