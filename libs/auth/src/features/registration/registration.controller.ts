import { type CallSource, Flow } from '../../request/http/server-call';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  Post,
  Req,
  UseInterceptors,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, tap } from 'rxjs';
import { Public } from '../../request/gates/authenticated';
import { DeliversTokens } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { Registration, type RegistrationAnswer } from './registration';

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

@Controller('register')
export class RegisterController {
  constructor(private readonly registration: Registration) {}

  @Post()
  @Public()
  @Throttled('svc-register')
  @UseInterceptors(CreatedStatus)
  @DeliversTokens()
  register(@Req() request: object): Promise<RegistrationAnswer> {
    return this.registration.register(request);
  }
}

/**
 * Registration, for code of the host. Needs `features.registration`.
 *
 * @publicApi
 */
@Injectable()
export class RegistrationFlow extends Flow {
  protected override readonly feature = 'registration';

  /**
   * As `POST /register`: creates an account. Returns the tokens of a session, a challenge, or neither, as a login with
   * the new password would. With `registration.concealExisting`, the result is the same whether or not the email has an
   * account.
   *
   * @param fields the fields that the rules declare, by their names in a request body. `password_confirmation` may be
   * omitted
   * @throws ValidationFailed, IdentifierTaken, TooManyRequests, HasherBusy, StoreUnavailable
   */
  async register(fields: Readonly<Record<string, unknown>>, source: CallSource): Promise<RegistrationAnswer> {
    const registration = this.get(Registration);
    const body = { password_confirmation: fields?.password, ...fields };
    return this.call(RegisterController, 'register', source, (request) => registration.register(request), body);
  }
}
