import { z } from 'zod';

/** The name of an application. */
export const AndroidPackage = z
  .string()
  .max(255)
  .regex(/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/, 'must be the name of a package, such as "com.example.notes"');

const SERVER = 'must be an adb server of this machine: "127.0.0.1:5037", or the path of its socket';

/** An Android device that agents may use, through an adb server that runs already. Which one is said, never found. */
export const MobileSettings = z.strictObject({
  /** As `adb devices` lists it. */
  serial: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:%[\]-]{0,127}$/, 'must be the serial of a device, as "adb devices" lists it'),
  /** The protocol has no password, so another machine's server is none. */
  server: z
    .string()
    .max(1_024)
    .regex(/^(?:127\.0\.0\.1:\d{1,5}|\/[^\0]+)$/, SERVER)
    .default('127.0.0.1:5037'),
  /** Packages that agents are meant to use; others are told as such. */
  applications: z.array(AndroidPackage).max(256).default([]),
});
export type MobileSettings = z.infer<typeof MobileSettings>;

/** Tools that look at a phone, by UFO's names: its clients never list them. */
export const PHONE_LOOKS = [
  'capture_screenshot',
  'get_ui_tree',
  'get_device_info',
  'get_mobile_app_target_info',
  'get_app_window_controls_target_info',
] as const;
