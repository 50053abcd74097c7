import { Controller, Post, Req, UseInterceptors } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { DeliversTokens } from '../http/token-delivery';
import { Throttled } from '../throttling/throttled.decorator';
import { CreatedStatus } from './created-status';
import { Registration, type RegistrationAnswer } from './registration';

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
