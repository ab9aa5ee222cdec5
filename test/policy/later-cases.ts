/** Every such case of the file, by category. Each is run by `conformance.test.ts`, as far as two verdicts of the reader decide it. */
export const later: Readonly<Record<string, readonly string[]>> = {
  'command-lists': ['P122', 'P124', 'P125', 'P126', 'P128', 'P129', 'P130', 'P134', 'P135', 'P136'],
  'command-structure': [
    ...['P138', 'P139', 'P140', 'P142', 'P143', 'P144', 'P146', 'P147', 'P148', 'P150', 'P151', 'P152', 'P154'],
    ...['P155', 'P156', 'P158', 'P159', 'P160', 'P162', 'P163', 'P164', 'P166', 'P167'],
  ],
  substitution: ['P168', 'P170', 'P171', 'P172', 'P174', 'P175', 'P176', 'P178', 'P179', 'P180', 'P182', 'P183'],
  'prefix-allowlist': ['P184', 'P186', 'P187', 'P188', 'P190', 'P191', 'P192'],
  blocks: ['P395'],
  presets: [
    ...['P519', 'P520', 'P521', 'P523', 'P524', 'P525', 'P527', 'P528', 'P529', 'P531', 'P532', 'P533', 'P535'],
    ...['P536', 'P537', 'P539', 'P540', 'P541', 'P543', 'P544', 'P545', 'P547', 'P548', 'P549', 'P551', 'P552'],
    ...['P553', 'P555', 'P556', 'P557', 'P559', 'P560', 'P561', 'P563', 'P564', 'P565', 'P567', 'P568', 'P569'],
    ...['P571'],
  ],
  'command-path': ['P596', 'P597', 'P599', 'P600', 'P601', 'P603', 'P604', 'P605'],
};

/** Of those, the ones whose verdict is stricter than expected until the line is read, and why. */
export const stricterUntilThen: Readonly<Record<string, string>> = {
  P138: 'the payload of sh -c is not read',
  P158: 'a list of commands is not read',
  P163: 'words behind an entry are not judged',
  P187: 'words behind an entry are not judged',
  P525: 'a list of commands is not read',
  P561: 'a list of commands is not read',
  P604: 'an expansion is not read',
};

/** Asked about where a denial is expected: what is piped into a shell as octal escapes is not decoded. */
export const askedUntilThen: readonly string[] = ['P154'];

/**
 * P013 expects `allow` for a `local_shell` call without a `command`. 02 §9.1 reads such a call as unreadable, 02 §8.1
 * makes an `allow` of an unreadable call an ask, and P167 expects just that of another call without a `command`. The
 * rules are followed; the case stays listed here so that it is seen.
 */
export const againstTheRules: readonly string[] = ['P013'];
