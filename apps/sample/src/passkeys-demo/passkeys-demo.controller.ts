import { Controller, Get, Header, NotFoundException, Param } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Nothing but this server's own files, and nobody may frame the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const read = (name: string): string => readFileSync(join(__dirname, name), 'utf8');

/** A page to try passkeys with. */
@Controller('passkeys-demo')
export class PasskeysDemoController {
  private readonly page = read('page.html');
  private readonly script = { 'page.js': read('page.js'), 'passkeys.js': read('passkeys.js') };
  private readonly style = read('page.css');

  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  @Header('Referrer-Policy', 'no-referrer')
  @Header('X-Content-Type-Options', 'nosniff')
  html(): string {
    return this.page;
  }

  @Get('page.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  css(): string {
    return this.style;
  }

  @Get(':script')
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  @Header('X-Content-Type-Options', 'nosniff')
  js(@Param('script') name: string): string {
    if (name === 'page.js' || name === 'passkeys.js') return this.script[name];
    throw new NotFoundException();
  }
}
