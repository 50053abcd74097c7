import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../request/http/client-info';
import type { DeviceToken } from '../../request/http/route.interceptor';

/** Whether the user has signed in on a device before. */
export type SignInDevice = 'known' | 'new';

/** A complete sign-in. */
export interface CompleteSignIn {
  readonly userId: string;
  readonly familyId: string;
  readonly client: ClientInfo;
  /** The request of the device; undefined for a session that is not a sign-in, which has no device. */
  readonly request: object | undefined;
}

/** The device of a sign-in. */
export interface RecordedDevice {
  /** Null without a device. */
  readonly device: SignInDevice | null;
  /** The token that the device keeps. */
  readonly deviceToken?: DeviceToken;
}

export const NO_DEVICE: RecordedDevice = { device: null };

/** Records the devices on which users sign in. */
export abstract class SignInDevices {
  /** Called after the session was stored and checked, before its tokens are sent. @throws StoreUnavailable */
  abstract record(signIn: CompleteSignIn): Promise<RecordedDevice>;
}

/** Used when `features.knownDevices` is off: records nothing. */
@Injectable()
export class NoSignInDevices extends SignInDevices {
  async record(): Promise<RecordedDevice> {
    return NO_DEVICE;
  }
}
