import { Controller, Get, Header, Query } from '@nestjs/common';
import { html, page } from './html';

const HTML = ['Content-Type', 'text/html; charset=utf-8'] as const;

/** What a front end does with mailed links, in its shortest form. */
@Controller()
export class PagesController {
  /** The page of `SVC_RESET_URL`: sends token, address and the new password to the API. */
  @Get('reset-password')
  @Header(...HTML)
  // Its address is a secret until the form was sent, and so is what it holds.
  @Header('Referrer-Policy', 'no-referrer')
  @Header('Cache-Control', 'no-store')
  resetPassword(@Query('token') token: unknown, @Query('email') email: unknown): string {
    const form = html`<form method="post" action="/auth/reset-password">
      <input type="hidden" name="token" value="${token}" />
      <input type="hidden" name="email" value="${email}" />
      <p><input type="password" name="password" autocomplete="new-password" placeholder="New password" required /></p>
      <p><input type="password" name="password_confirmation" placeholder="The same again" required /></p>
      <button>Set the password</button>
    </form>`;
    return page('Choose a new password', form);
  }

  /** The page of `SVC_VERIFY_URL`. */
  @Get('verified')
  @Header(...HTML)
  verified(): string {
    return page('Your address is verified', html`<p>You can close this page.</p>`);
  }
}
