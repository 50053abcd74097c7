import { Controller, Delete, Get, HttpCode, Injectable, Param } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { NoStore } from '../../request/http/route.interceptor';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Unlimited } from '../../foundation/realm/feature';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import type { ListedDevice } from './trusted-device.store';
import { TrustedDevices } from './trusted-devices';

@Controller('trusted-devices')
@Authenticated()
export class TrustedDevicesController {
  constructor(private readonly devices: TrustedDevices) {}

  @Get()
  @NoStore()
  @RequireIfPinned('svc.account')
  @Unlimited('it reads the devices of the caller')
  async own(@CurrentCaller() { userId }: Caller): Promise<{ data: ListedDevice[] }> {
    return { data: await this.devices.list(userId) };
  }

  /** Ends the trust in all devices. Needs no step-up: it only makes sign-ins harder. */
  @Delete()
  @HttpCode(204)
  @RequireIfPinned('svc.account')
  @Unlimited('it removes rows that sign-ins have added')
  forgetAll(@CurrentCaller() { userId }: Caller): Promise<void> {
    return this.devices.forgetAll(userId);
  }

  @Delete(':svcDevice')
  @HttpCode(204)
  @RequireIfPinned('svc.account')
  @Unlimited('it removes a row that a sign-in has added')
  forget(@CurrentCaller() { userId }: Caller, @Param('svcDevice') id: string): Promise<void> {
    return this.devices.forget(userId, id);
  }
}

/**
 * The trusted devices of a caller, for code of the host. Needs `features.twoFactor` or `features.passkeys`.
 *
 * @publicApi
 */
@Injectable()
export class TrustedDeviceFlow extends Flow {
  protected override readonly feature = 'twoFactor';

  /** As `GET /trusted-devices`: lists the trusted devices, the newest first. @throws Unauthenticated, InsufficientScope */
  async list(source: CallSource): Promise<ListedDevice[]> {
    const devices = this.get(TrustedDevices);
    return this.callAs(TrustedDevicesController, 'own', source, ({ userId }) => devices.list(userId));
  }

  /** As `DELETE /trusted-devices/:id`. An unknown id has no effect. @throws Unauthenticated, InsufficientScope */
  async forget(id: string, source: CallSource): Promise<void> {
    const devices = this.get(TrustedDevices);
    return this.callAs(TrustedDevicesController, 'forget', source, ({ userId }) => devices.forget(userId, id));
  }

  /** As `DELETE /trusted-devices`. @throws Unauthenticated, InsufficientScope, StoreUnavailable */
  async forgetAll(source: CallSource): Promise<void> {
    const devices = this.get(TrustedDevices);
    return this.callAs(TrustedDevicesController, 'forgetAll', source, ({ userId }) => devices.forgetAll(userId));
  }
}
