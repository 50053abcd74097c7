import { HttpException } from '@nestjs/common';
import { AuthException } from '../kernel/auth.exception';
import { isUnavailable } from '../kernel/unavailable';
import { type Reason, isReason } from './reasons';

/** The reason that an error stands for: the one it was given, else its code. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof AuthException) return error.background.reason ?? (isReason(error.code) ? error.code : 'other');
  if (isUnavailable(error)) return 'store_unavailable';
  return error instanceof HttpException ? 'other' : 'unexpected';
}
