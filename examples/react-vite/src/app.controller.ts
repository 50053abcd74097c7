import { Controller, Get } from '@nestjs/common';
import { Authenticated, CurrentUser } from '@svc/auth';
import { User } from './users.js';

@Controller('hello')
@Authenticated()
export class AppController {
  @Get()
  getHello(@CurrentUser() user: User) {
    return { greeting: `Hello, ${user.name}!` };
  }
}
