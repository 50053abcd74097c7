import { Controller, Get } from '@nestjs/common';
import { Authenticated, CurrentUser } from '@svc/auth';
import type { User } from './user.entity';

@Controller('user')
@Authenticated()
export class UserController {
  /** The signed-in user. */
  @Get()
  show(@CurrentUser() { id, name, email }: User) {
    // This sample verifies no addresses, hence null: neither verified nor unverified.
    return { data: { id, email_verified: null, name, email } };
  }
}
