// a double pendulum, its second body relative to the first, which a dependent turns
title:="pendulum":
nbrdof:=2: nbrbody:=2: nbrdep:=1:
gravity[1]:=0: gravity[2]:=-9.81: gravity[3]:=0:
l0:=1.2: l1:=l0-0.1;
mass[0]:=1.1: mass[1]:=0.9:
Ixx[0]:=1: Iyy[0]:=1: Izz[0]:=l0^2/12*mass[0]:
Ixx[1]:=1: Iyy[1]:=1: Izz[1]:=l1^2/12*mass[1]: Ixy[1]:=0.001:
p[0]:=arcsin(sin(q[1])/2)+0.1*sin(2*PI*t):
T0G[0]:=Trotz(q[0])*Tdisp(0,-l0/2,0):
BodyRef[1]:=0: TrefG[1]:=Tdisp(0,-l0/2,0)*Trotz(q[1])*Trotx(p[0])*Tdisp(0,-l1/2,0):
qi[1]:=1: qdi[0]:=0.5:
FinalTime:=5: StepSave:=0.01: StepMax:=0.005:
