import { HttpException, Logger } from '@nestjs/common';
import { AuthException, StoreUnavailable } from '../kernel/auth.exception';
import { isUnavailable } from '../kernel/unavailable';
import { HasherBusy } from '../password/hasher-busy.exception';

const logger = new Logger('Auth');

/** Whether a failure is an answer in words of the host's, or of the framework's. */
export const isForeign = (error: unknown): error is HttpException =>
  error instanceof HttpException && !(error instanceof AuthException) && !isUnavailable(error);

/** A failure as its client is told it. Operators are told of every fault, which its client learns nothing of. */
export function refusalOf(error: unknown): AuthException {
  if (error instanceof AuthException) return told(error);
  if (isUnavailable(error)) return told(new StoreUnavailable('A store', error));
  logger.error('unexpected failure', (error as Error | null)?.stack ?? String(error));
  return new AuthException('server_error', { status: 500, text: { key: 'server.error' } }, error);
}

function told(refusal: AuthException): AuthException {
  // A full queue is told by the security log, which a flood does not flood.
  if (refusal.getStatus() >= 500 && !(refusal instanceof HasherBusy))
    logger.error(`${refusal.code}: ${refusal.message}`, (refusal.cause as Error | undefined)?.stack);
  return refusal;
}
