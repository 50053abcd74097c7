import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, tap } from 'rxjs';
import type { RegistrationAnswer } from './registration';

/**
 * Sets the status 201 for an account without a session, and 202 for a registration whose result is concealed. Session
 * tokens and a challenge are answered 200, as at a login.
 */
@Injectable()
export class CreatedStatus implements NestInterceptor<RegistrationAnswer, RegistrationAnswer> {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  intercept(context: ExecutionContext, next: CallHandler<RegistrationAnswer>): Observable<RegistrationAnswer> {
    const response = context.switchToHttp().getResponse();
    return next.handle().pipe(
      tap((answer) => {
        if ('registered' in answer) this.adapterHost.httpAdapter.status(response, 201);
        if ('status' in answer) this.adapterHost.httpAdapter.status(response, 202);
      }),
    );
  }
}
