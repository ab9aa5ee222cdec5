/** Where the processes of a test run find its template. */
export const templateVariable = 'REINS_TEST_TEMPLATE';

/** The directory of the template; what else is made for all tests of a run may lie in it, and is removed with the run. */
export const template = (): string => {
  const dir = process.env[templateVariable];
  if (dir === undefined) throw new Error('the global set-up has made no template');
  return dir;
};
