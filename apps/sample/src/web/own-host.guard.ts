import {
  type CanActivate,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  MisdirectedException,
} from '@nestjs/common';
import { isIP } from 'node:net';

/** The public URL of the server: `PUBLIC_URL`. */
export class PublicUrl {
  constructor(readonly url: string) {}
}

/** The headers that name the server of a request, and the page that sent it. */
interface Place {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/**
 * Whether a request is for this server and from one of its pages. Pure.
 *
 * A foreign page can let its own host name point to this machine (DNS rebinding): its requests are of one origin for the
 * browser, and their `Host` is that name. So the host is `localhost`, an address, or the host of the public URL.
 *
 * @returns `foreign_host` or `foreign_page` for other requests
 */
export function flawOfPlace({ host, origin }: Place, publicUrl: string): 'foreign_host' | 'foreign_page' | undefined {
  const own = new URL(publicUrl);
  if (!URL.canParse(`http://${host}`)) return 'foreign_host';
  const asked = new URL(`http://${host}`);
  const isAddress = isIP(asked.hostname.replace(/^\[|\]$/g, '')) > 0;
  // A port that is the default of the scheme is not part of the header.
  if (!isAddress && asked.hostname !== 'localhost' && host !== own.host) return 'foreign_host';
  const pages = [own.origin, asked.origin];
  return origin === undefined || pages.includes(origin) ? undefined : 'foreign_page';
}

/** Answers only requests for this server and from its own pages: 421 or 403 otherwise. */
@Injectable()
export class OwnHost implements CanActivate {
  constructor(private readonly own: PublicUrl) {}

  canActivate(context: ExecutionContext): boolean {
    const { host, origin } = context.switchToHttp().getRequest<{ headers: Place }>().headers;
    const flaw = flawOfPlace({ host, origin }, this.own.url);
    if (flaw === 'foreign_host') throw new MisdirectedException();
    if (flaw === 'foreign_page') throw new ForbiddenException();
    return true;
  }
}
