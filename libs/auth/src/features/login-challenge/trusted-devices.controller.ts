import { Controller, Param } from '@nestjs/common';
import { UUID, of } from '../../foundation/platform/schema';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, listed } from '../../request/routes/route';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { type ListedDevice, TRUSTED_DEVICE, TrustedDeviceStore } from './trusted-device.store';
import { TrustedDevices } from './trusted-devices';

@Controller('trusted-devices')
export class TrustedDevicesController {
  constructor(
    private readonly devices: TrustedDevices,
    private readonly store: TrustedDeviceStore,
  ) {}

  @Route('GET', '', 'trusted_devices_list', {
    summary: 'Lists the trusted devices of the caller',
    gates: [RequireIfPinned('svc.account')],
    unlimited: 'it reads the devices of the caller',
    answer: listed(TRUSTED_DEVICE),
    quiet: true,
  })
  own(@CurrentCaller() { userId }: Caller): Promise<ListedDevice[]> {
    return this.devices.list(userId);
  }

  /** Ends the trust in all devices. Needs no step-up: it only makes sign-ins harder. */
  @Route('DELETE', '', 'trusted_devices_forget_all', {
    summary: 'Ends the trust in every device of the caller',
    gates: [RequireIfPinned('svc.account')],
    unlimited: 'it removes rows that sign-ins have added',
  })
  forgetAll(@CurrentCaller() { userId }: Caller): Promise<void> {
    return this.store.removeAll(userId);
  }

  @Route('DELETE', ':svcDevice', 'trusted_device_forget', {
    summary: 'Ends the trust in one device of the caller',
    parameters: { svcDevice: of(UUID, 'The id of a trusted device.') },
    gates: [RequireIfPinned('svc.account')],
    unlimited: 'it removes a row that a sign-in has added',
  })
  async forget(@CurrentCaller() { userId }: Caller, @Param('svcDevice') id: string): Promise<void> {
    await this.store.remove(userId, id);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** The trusted devices of a caller. */
    readonly trustedDevices: TrustedDeviceFlow;
  }
}

/**
 * The trusted devices of a caller, for code of the host. Needs `features.twoFactor` or `features.passkeys`.
 *
 * @publicApi
 */
export class TrustedDeviceFlow extends Flow {
  /** As `GET /trusted-devices`: lists the trusted devices, the newest first. @throws Unauthenticated, InsufficientScope */
  list(source: CallSource): Promise<ListedDevice[]> {
    return this.call(TrustedDevicesController, 'own', source);
  }

  /** As `DELETE /trusted-devices/:id`. An unknown id has no effect. @throws Unauthenticated, InsufficientScope */
  forget(id: string, source: CallSource): Promise<void> {
    return this.call(TrustedDevicesController, 'forget', source, { svcDevice: id });
  }

  /** As `DELETE /trusted-devices`. @throws Unauthenticated, InsufficientScope, StoreUnavailable */
  forgetAll(source: CallSource): Promise<void> {
    return this.call(TrustedDevicesController, 'forgetAll', source);
  }
}
