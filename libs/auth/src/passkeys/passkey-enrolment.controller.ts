import { Controller, HttpCode, Post } from '@nestjs/common';
import { RequireConfirmation } from '../confirmation/require-confirmation.decorator';
import { Authenticated, CurrentCaller } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import { NoStore } from '../http/no-store.decorator';
import type { Caller } from '../tokens/caller';
import { PasskeyEnrolment } from './passkey-enrolment';
import { RegistrationRequest } from './registration.request';

@Controller('passkeys')
export class PasskeyEnrolmentController {
  constructor(private readonly enrolment: PasskeyEnrolment) {}

  @Post('registration-options')
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireConfirmation()
  options(@CurrentCaller() caller: Caller) {
    return this.enrolment.options(caller);
  }

  @Post()
  @HttpCode(204)
  @Authenticated()
  @RequireConfirmation()
  register(
    @CurrentCaller() caller: Caller,
    @RequestBody(RegistrationRequest) { credential, name }: RegistrationRequest,
  ): Promise<void> {
    return this.enrolment.register(caller, credential, name);
  }
}
