import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  Post,
  Req,
  UseInterceptors,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, tap } from 'rxjs';
import { Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { DeliversTokens, NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { AssertionRequest } from '../passkeys/passkey-login';
import { PasskeyRegistration } from './passkey-registration';
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

@Controller('register/passkey')
export class PasskeyRegistrationController {
  constructor(private readonly registration: PasskeyRegistration) {}

  @Post('options')
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-passkeys')
  options(@Req() request: object): Promise<{ ceremony_id: string; options: object }> {
    return this.registration.options(request);
  }

  @Post()
  @Public()
  @Throttled('svc-register')
  @UseInterceptors(CreatedStatus)
  @DeliversTokens()
  register(
    @RequestBody(AssertionRequest) answer: AssertionRequest,
    @Req() request: object,
  ): Promise<RegistrationAnswer> {
    return this.registration.register(answer, request);
  }
}
