/** SQL: whether a row of `tool_calls` is of a call that was denied, by a rule or by a person. */
export const wasDenied = `state = 'skipped' AND json_type(result) = 'object' AND json_extract(result, '$.error') = 'denied'`;
