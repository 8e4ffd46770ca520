import { DesktopFault, type FaultCode } from './desktop-fault.js';

/** The answer, or a fault when it does not come in time: what is asked may be a program that has stopped. */
export async function inTime<T>(answer: Promise<T>, ms: number, code: FaultCode, why: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DesktopFault(code, why)), ms);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
