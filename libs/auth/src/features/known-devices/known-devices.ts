import { Inject, Injectable } from '@nestjs/common';
import { Realm, crypto, http, identity, mailing, type session, settings } from '../../kit';
import { deviceVerdict } from './known-device.policy';
import { KNOWN_DAYS, KnownDeviceStore, type ListedKnownDevice } from './known-device.store';

declare module '../../request/http/route-answer' {
  interface SessionTokens {
    /** The token of the device, after a sign-in with `features.knownDevices`. */
    readonly deviceToken?: DeviceToken;
  }
}

declare module '../../foundation/ports/presenter' {
  interface TokenBody {
    /** The token of the device, for the header `X-Svc-Device` of later sign-ins. Only in body mode, after a sign-in. */
    device_token?: string;
  }
}

/** The header of body mode with the token of the device. */
const DEVICE_HEADER = 'X-Svc-Device';

/** The cookie of a known device. It stays when a session ends. */
@Injectable()
export class DeviceCookie extends http.TokenCookie {
  static override readonly suffix = '.device';
  static readonly delivered = {
    property: 'deviceToken',
    field: 'device_token',
    meaning: 'After a sign-in with `features.knownDevices`: for the header `X-Svc-Device` of the next one.',
  } as const;

  /** The token of the device that sends a request, in the header or in the cookie. */
  of({ headers = {} }: { headers?: Readonly<Record<string, unknown>> }): string {
    return this.presented(headers[DEVICE_HEADER.toLowerCase()], { headers });
  }
}

/** Number of users of one device whose parts its token keeps. */
const MOST_USERS = 4;

const PART = /^([0-9a-f]{64})\.([0-9a-f]{64})$/;

/**
 * Makes and reads the tokens of devices. A token has a part for each of the last users of the device: a random id, and its
 * signature, which binds it to the user. So a text that this server has not made costs no query, and a token that another person
 * has planted in the browser of a user is none of this user: the user gets an id that the other person does not know. A token
 * contains no data of a user.
 */
@Injectable()
export class DeviceTokens {
  private readonly signatures: crypto.Signatures;

  constructor(
    private readonly cookie: DeviceCookie,
    realm: Realm,
    @Inject(settings.AUTH_CONFIG) { encryption }: settings.AuthConfig,
  ) {
    // The roots of the refresh tokens: the first one signs, and all of them verify.
    this.signatures = new crypto.Signatures(crypto.rootsOf(realm.options, encryption), `svc:device:${realm.guard}`);
  }

  /**
   * The token of a request, with an id for the user. Its signature may change with the configured roots. The parts of other
   * users, which the request has presented, are not verified: they have an effect only for these users.
   */
  withId(deviceId: string, userId: string, request: object): string {
    const own = `${deviceId}.${this.signatures.sign(boundTo(userId, deviceId))}`;
    const others = this.partsOf(request).filter((part) => !part.startsWith(deviceId));
    return [own, ...others].slice(0, MOST_USERS).join('~');
  }

  /** The id of the user in the token that a request has presented; null without one of this guard. */
  idOf(request: object, userId: string): string | null {
    for (const part of this.partsOf(request)) {
      const [id, signature] = part.split('.') as [string, string];
      if (this.signatures.verify(boundTo(userId, id), signature)) return id;
    }
    return null;
  }

  private partsOf(request: object): string[] {
    const parts = this.cookie.of(request).split('~', MOST_USERS + 1);
    return parts.length <= MOST_USERS && parts.every((part) => PART.test(part)) ? parts : [];
  }
}

/** An id has no dot. */
const boundTo = (userId: string, deviceId: string): string => `${deviceId}.${userId}`;

/**
 * Recognizes the devices of sign-ins, and lists them for their user. Mails the owner of an account about a sign-in on a new device:
 * the mail is prepared and sent after the response.
 */
@Injectable()
export class KnownDevices {
  constructor(
    private readonly store: KnownDeviceStore,
    private readonly tokens: DeviceTokens,
    private readonly users: identity.TimedUserProvider,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly queue: mailing.MailQueue,
    private readonly mails: mailing.AccountMails,
    private readonly realm: Realm,
  ) {}

  async record({ userId, familyId, client, request }: session.StoredSession): Promise<session.SessionAddition> {
    if (request === undefined) return {};
    const deviceId = this.tokens.idOf(request, userId) ?? crypto.newSecret();
    const seen = await this.store.record({ userId, familyId, deviceId, userAgent: client.userAgent });
    if (!seen) return {};
    const { device, mails } = deviceVerdict(seen);
    if (mails && this.realm.options.knownDevices.mail)
      this.queue.add('newSignIn', () => this.draftFor(seen.id, userId, client));
    const token = this.tokens.withId(deviceId, userId, request);
    return { device, deviceToken: { token, expiresIn: KNOWN_DAYS * 86_400 } };
  }

  /** @param request shows which of the devices is that of the caller */
  list(userId: string, request: object): Promise<ListedKnownDevice[]> {
    return this.store.list(userId, this.tokens.idOf(request, userId));
  }

  /** Any other id than that of a device of the user has no effect. */
  async forget(userId: string, id: string): Promise<void> {
    await this.store.forget(userId, id);
  }

  private async draftFor(
    id: string,
    userId: string,
    client: http.ClientInfo,
  ): Promise<mailing.Draft<'newSignIn'> | null> {
    // The address may have changed while the mail waited in the queue, and a deleted account gets no mail.
    const user = await this.users.findById(userId);
    // Several sign-ins may have queued it.
    if (!user || !(await this.store.isMailDue(id))) return null;
    const to = this.users.emailOf(user);
    const sent = (): Promise<void> => this.store.settleMail(id);
    if (!to) return sent().then(() => null);
    const write = (): Promise<mailing.Mail | null> => this.write(id, user, to, client);
    return { to, proof: await this.provedEmails.proofOf(user), once: id, write, sent };
  }

  /** The mail stays due until the mail server has accepted it. A further attempt replaces the link. */
  private async write(
    id: string,
    user: object,
    to: string,
    { ip, userAgent }: http.ClientInfo,
  ): Promise<mailing.Mail | null> {
    const { guard, isDefault, knownDevices } = this.realm.options;
    const token = crypto.newSecret();
    const time = await this.store.link(id, token);
    if (time === null) return null;
    // The page has to know at which guard it reports. The URL is required at boot.
    const url = mailing.mailedLink(knownDevices.frontendUrl!, { secret: token, email: to, guard }, (page) =>
      mailing.withQuery(page, { token, ...(!isDefault && { guard }) }),
    );
    const minutes = knownDevices.expireMinutes;
    return this.mails.write('newSignIn', { user, to, url, minutes, time, ip, userAgent });
  }
}
