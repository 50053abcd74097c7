import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { Signatures, newSecret } from '../../foundation/platform/crypto';
import { Realm } from '../../foundation/realm/realm';
import { DeviceCookie } from '../../request/http/refresh-cookie';
import { type CompleteSignIn, NO_DEVICE, type RecordedDevice, SignInDevices } from '../sessions/sign-ins';
import { deviceVerdict } from './known-device.policy';
import { KNOWN_DAYS, KnownDeviceStore, type ListedKnownDevice } from './known-device.store';
import { NewSignInMails } from './new-sign-in-mails';

const TOKEN = /^([0-9a-f]{64})\.([0-9a-f]{64})$/;

/** Minimum length of a root in bytes, the same as that of refresh tokens. */
const ROOT_BYTES = 32;

/**
 * Makes and reads the tokens of devices: a random id and its signature. So a text that this server has not made costs no
 * query. A token contains no data of a user, and several users of one device share it.
 */
@Injectable()
export class DeviceTokens {
  private readonly signatures: Signatures;

  constructor(
    private readonly cookie: DeviceCookie,
    realm: Realm,
    @Inject(AUTH_CONFIG) { encryption: { key, previousKeys } }: AuthConfig,
  ) {
    const { secret, previousSecrets } = realm.options;
    // The roots of the refresh tokens: the first one signs, and all of them verify.
    const texts = [key, secret, ...previousKeys, ...previousSecrets].map((text = '') => text);
    const roots = texts.filter((text) => Buffer.byteLength(text) >= ROOT_BYTES);
    this.signatures = new Signatures(roots, `svc:device:${realm.guard}`);
  }

  /** The token with an id. Its signature may change with the configured roots. */
  withId(deviceId: string): string {
    return `${deviceId}.${this.signatures.sign(deviceId)}`;
  }

  /** The id in the token that a request has presented; null without a token of this guard. */
  idOf(request: object): string | null {
    const [, id, signature] = TOKEN.exec(this.cookie.presented(request)) ?? [];
    return id !== undefined && signature !== undefined && this.signatures.verify(id, signature) ? id : null;
  }
}

/** Recognizes the devices of sign-ins, and lists them for their user. */
@Injectable()
export class KnownDevices extends SignInDevices {
  constructor(
    private readonly store: KnownDeviceStore,
    private readonly tokens: DeviceTokens,
    private readonly mails: NewSignInMails,
  ) {
    super();
  }

  async record({ userId, familyId, client, request }: CompleteSignIn): Promise<RecordedDevice> {
    if (request === undefined) return NO_DEVICE;
    const deviceId = this.tokens.idOf(request) ?? newSecret();
    const seen = await this.store.record({ userId, familyId, deviceId, userAgent: client.userAgent });
    if (!seen) return NO_DEVICE;
    const { device, mails } = deviceVerdict(seen);
    if (mails) this.mails.send(seen.id, userId, client);
    return { device, deviceToken: { token: this.tokens.withId(deviceId), expiresIn: KNOWN_DAYS * 86_400 } };
  }

  forgetAll(userId: string): Promise<void> {
    return this.store.forgetAll(userId);
  }

  /** @param request shows which of the devices is that of the caller */
  list(userId: string, request: object): Promise<ListedKnownDevice[]> {
    return this.store.list(userId, this.tokens.idOf(request));
  }

  /** Any other id than that of a device of the user has no effect. */
  forget(userId: string, id: string): Promise<void> {
    return this.store.forget(userId, id);
  }
}
