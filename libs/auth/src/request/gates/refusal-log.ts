import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthException } from '../../foundation/platform/errors';
import { reasonOf, telemetry } from '../../foundation/observability/telemetry';
import { SecurityLog } from '../../foundation/observability/security-log';
import { aboutRequest } from './request-log';
import { operationOf } from './library-routes';

/** Tells operators what a gate refused, before whichever route it stands. */
@Injectable()
export class GateRefusalLog {
  constructor(private readonly log: SecurityLog) {}

  write(error: unknown, guard: string, context: ExecutionContext, request: object): void {
    const reason = reasonOf(error);
    const operation = operationOf(context.getClass(), context.getHandler());
    const attributes = { 'svc.auth.guard': guard, ...(operation && { 'svc.auth.operation': operation }) };
    telemetry.count('svc.auth.guard.refusals', { ...attributes, 'error.type': reason });
    if (reason === 'too_many_requests') telemetry.count('svc.auth.rate_limit.refusals', attributes);
    const { userId } = error instanceof AuthException ? error.logDetails : {};
    const about = aboutRequest(request);
    this.log.write('warning', {
      event: 'auth.guard.refused',
      reason,
      guard,
      operation,
      ...about,
      ...(userId && { user_id: userId }),
    });
  }
}
