// Refusals: their details are typed by their code.

import { fencedOut, NamzuError, type NamzuErrorOf, type SchemaVersionError } from 'fencelink';

export function particulars(error: unknown): string | number | undefined {
  if (!(error instanceof NamzuError)) throw error;
  switch (error.code) {
    case 'storage_error':
      return error.details?.currentFence ?? error.details?.path;
    case 'capability_unavailable':
      return error.details?.platform ?? error.details?.code;
    case 'invalid_config':
      // @ts-expect-error A wrong request is about no file.
      error.details?.path;
      return error.details?.argument;
    case 'not_found':
    case 'unknown':
      // @ts-expect-error There are none.
      return error.details?.path;
  }
}

const late: number | undefined = fencedOut(
  { tenantId: 't', projectId: 'p', sessionId: 's', runId: 'run_1' },
  1,
  2,
).details?.presentedFence;

// A host may build upon the class.
class HostError extends NamzuError {
  readonly host = true;
}
const made: NamzuErrorOf<'unknown'>['retryable'] = new HostError({ code: 'unknown', message: 'm' })
  .retryable;

export const schema = (error: SchemaVersionError): number | undefined => error.details?.found;
export const used = [late, made];
