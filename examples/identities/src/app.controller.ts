import { Controller, Get, Header, StreamableFile } from '@nestjs/common';
import { Authenticated, CurrentUser } from '@svc/auth';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { providers } from './providers.js';
import { User } from './users.js';

@Controller()
export class AppController {
  @Get('providers')
  names() {
    return Object.keys(providers);
  }

  /** The page, also where a provider sends the browser back. Only the page reads the parameters. */
  @Get(['', 'signed-in/:provider'])
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Referrer-Policy', 'no-referrer')
  page() {
    return new StreamableFile(createReadStream(join(__dirname, '../public/index.html')));
  }

  @Get('me')
  @Authenticated()
  me(@CurrentUser() { name, email }: User) {
    return { name, email };
  }
}
