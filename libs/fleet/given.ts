import {
  LIMITS,
  sameJson,
  wrongTogether,
  type Actor,
  type FleetEvent,
  type GivenValue,
  type ProfileKey,
  type ProfileValues,
  type RecordedFleetEvent,
} from '#proto';

/** What the administrator has said of a device, name by name, with who said it last and when. */
export interface GivenProfile {
  readonly values: Readonly<Record<ProfileKey, GivenValue>>;
  /** Sequence of the event that changed it last; 0: nothing was ever said. */
  readonly revision: number;
  /** The last commands that changed it: each is carried out once, however late it comes again. */
  readonly orders: readonly GivenOrder[];
}

interface GivenOrder {
  readonly commandId: string;
  readonly set: ProfileValues;
  readonly unset: readonly ProfileKey[];
  /** Of the event that it became. */
  readonly revision: number;
}

export const NOTHING_GIVEN: GivenProfile = { values: {}, revision: 0, orders: [] };

export type ProfileChanged = Extract<RecordedFleetEvent, { type: 'DEVICE_PROFILE_CHANGED' }>;

/** Folds one recorded change. */
export function evolveGiven(
  given: GivenProfile,
  { sequence, data }: Pick<ProfileChanged, 'sequence' | 'data'>,
): GivenProfile {
  const { set, unset, by, changedAt: at, commandId } = data;
  const kept = Object.entries(given.values).filter(([key]) => !unset.includes(key) && !Object.hasOwn(set, key));
  const said = Object.entries(set).map(([key, value]): [ProfileKey, GivenValue] => [key, { value, by, at }]);
  const sorted = [...kept, ...said].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const order = commandId === undefined ? [] : [{ commandId, set, unset, revision: sequence }];
  return {
    values: Object.fromEntries(sorted),
    revision: sequence,
    orders: [...given.orders, ...order].slice(-LIMITS.profileOrdersMax),
  };
}

export interface GivenChange {
  readonly set: ProfileValues;
  readonly unset: readonly ProfileKey[];
  /** Proven. */
  readonly by: Actor;
  /** Absent: it comes with an enrolment. */
  readonly commandId?: string;
  /** As the profile was looked at; absent: whatever it is. */
  readonly revision?: number | undefined;
  readonly now: number;
}

export type GivenDecision =
  | { readonly kind: 'changed'; readonly event: FleetEvent }
  /** It is so already, or this command has done it; `revision`: of when it did, or as it is. */
  | { readonly kind: 'same'; readonly changed: boolean; readonly revision: number }
  | { readonly kind: 'refused'; readonly reason: GivenRefusal };

export type GivenRefusal =
  | { readonly code: 'ID_USED' }
  | { readonly code: 'OTHER_REVISION'; readonly revision: number }
  /** `message`: what is wrong with all values together. */
  | { readonly code: 'TOO_MUCH'; readonly message: string };

/** What follows from an order: names that have their value already, and those that have none, are no news. */
export function decideGiven(
  given: GivenProfile,
  { set, unset, by, commandId, revision, now }: GivenChange,
): GivenDecision {
  const done = commandId === undefined ? undefined : given.orders.find((order) => order.commandId === commandId);
  if (done !== undefined) {
    return isSameOrder(done, { set, unset })
      ? { kind: 'same', changed: true, revision: done.revision }
      : { kind: 'refused', reason: { code: 'ID_USED' } };
  }
  if (revision !== undefined && revision !== given.revision) {
    return { kind: 'refused', reason: { code: 'OTHER_REVISION', revision: given.revision } };
  }
  const { values } = given;
  const isNews = Object.entries(set).some(
    ([key, value]) => !isGiven(values, key) || !sameJson(values[key]?.value, value),
  );
  if (!isNews && !unset.some((key) => isGiven(values, key))) {
    return { kind: 'same', changed: false, revision: given.revision };
  }
  const changedAt = new Date(now).toISOString();
  const data = { set, unset: [...unset], by, changedAt, ...(commandId !== undefined && { commandId }) };
  const after = evolveGiven(given, { sequence: given.revision + 1, data });
  const wrong = wrongTogether(valuesOf(after));
  if (wrong !== undefined) return { kind: 'refused', reason: { code: 'TOO_MUCH', message: wrong } };
  return { kind: 'changed', event: { type: 'DEVICE_PROFILE_CHANGED', data } };
}

function valuesOf({ values }: GivenProfile): ProfileValues {
  return Object.fromEntries(Object.entries(values).map(([key, { value }]) => [key, value]));
}

const isGiven = (values: GivenProfile['values'], key: ProfileKey): boolean => Object.hasOwn(values, key);

function isSameOrder(one: Pick<GivenOrder, 'set' | 'unset'>, other: Pick<GivenOrder, 'set' | 'unset'>): boolean {
  return sameJson(one.set, other.set) && sameJson([...one.unset].toSorted(), [...other.unset].toSorted());
}
