import type { AuditCheck } from '../schema/audit.ts';

/** It stays red after a backup was put back, until its operator has said so. */
const notThere =
  'the entries that are there follow from each other, but a head that was noted is not among them: ' +
  'so it is after a backup was put back in the place of the database, which `reins audit restored` records; ' +
  'otherwise entries were cut off or written anew';

/** The file is not there any more, or none of its lines is about this database. */
const noneNoted =
  'no head of this log was noted outside the database, so it would not be seen if entries were cut off at its end';

/**
 * What has to be known beside the result of a look at the audit log (06 §23). Not escaped.
 * @param ofNone what this surface takes where no head was noted; empty = nothing
 */
export function auditHints(found: AuditCheck, ofNone = ''): readonly string[] {
  if (!found.ok) return found.follows ? [notThere] : [];
  return [
    ...(found.entries > 0 && found.noted === 0 ? [`${noneNoted}${ofNone}`] : []),
    ...found.copies.map((path) => `what was noted of its copy ${path} is not held against it`),
  ];
}
